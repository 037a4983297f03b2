package dev.postrider.examples.stage;

/** An option that does not fit; the message says what was expected and what was given. */
public final class WrongOptionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WrongOptionException(String message) {
    super(message);
  }
}
