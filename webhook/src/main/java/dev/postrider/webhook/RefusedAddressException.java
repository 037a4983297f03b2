package dev.postrider.webhook;

import java.net.UnknownHostException;

/** A name leads to an address that must not be connected to. */
final class RefusedAddressException extends UnknownHostException {
  private static final long serialVersionUID = 1L;

  RefusedAddressException(String message) {
    super(message);
  }
}
