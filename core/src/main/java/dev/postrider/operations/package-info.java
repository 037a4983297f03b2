/**
 * Actions and queries of an operator: look at messages, pause topics and destinations, manage
 * subscriptions.
 */
@NullMarked
package dev.postrider.operations;

import org.jspecify.annotations.NullMarked;
