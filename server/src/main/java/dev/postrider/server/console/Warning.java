package dev.postrider.server.console;

/**
 * Something about the database that somebody should look at. Immutable.
 *
 * @param about one word, such as vacuum
 * @param advice what to do; may be empty
 */
public record Warning(String about, String text, String advice) {}
