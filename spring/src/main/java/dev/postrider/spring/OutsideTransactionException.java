package dev.postrider.spring;

import dev.postrider.message.PostriderException;

/** A message was published without a transaction that could commit it. Nothing was written. */
public final class OutsideTransactionException extends PostriderException {
  private static final long serialVersionUID = 1L;

  OutsideTransactionException(String message) {
    super(message);
  }

  OutsideTransactionException(String message, Throwable cause) {
    super(message, cause);
  }
}
