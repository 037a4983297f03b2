package dev.postrider.spring.shop;

import org.springframework.stereotype.Component;

/** Not part of a slice. */
@Component
class Elsewhere {}
