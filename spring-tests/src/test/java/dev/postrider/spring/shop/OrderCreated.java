package dev.postrider.spring.shop;

record OrderCreated(String orderId) {}
