/**
 * Payment instructions over two rails: in the order of each participant, checked before they are
 * sent, retried by explicit codes, and audited by a query.
 */
@NullMarked
package dev.postrider.examples.payments;

import org.jspecify.annotations.NullMarked;
