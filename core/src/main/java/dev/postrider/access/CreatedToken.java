package dev.postrider.access;

/**
 * A new token with its secret. The secret is not stored. Immutable.
 *
 * @param secret what a caller sends as {@code Authorization: Bearer …}
 */
public record CreatedToken(long id, String name, String secret) {
  @Override
  public String toString() {
    return "CreatedToken[id=" + id + ", name=" + name + "]";
  }
}
