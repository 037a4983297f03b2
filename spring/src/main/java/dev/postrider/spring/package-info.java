/**
 * Auto-configuration for Spring Boot. What comes in: the application's DataSource, its JSON mapper
 * and the properties {@code postrider.*}. What goes out: an outbox that joins Spring's
 * transactions, and a relay that starts and stops with the application. No SQL here.
 */
@NullMarked
package dev.postrider.spring;

import org.jspecify.annotations.NullMarked;
