/**
 * A group of companies whose orders, invoices, stock and prices become events: written in the
 * transaction of the change, published to a topic exchange of RabbitMQ, and consumed by five
 * systems that each do their part once.
 */
@NullMarked
package dev.postrider.examples.domainevents;

import org.jspecify.annotations.NullMarked;
