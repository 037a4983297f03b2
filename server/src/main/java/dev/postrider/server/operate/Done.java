package dev.postrider.server.operate;

/**
 * What an act on many came to.
 *
 * @param complete false if there is more to do: call again
 */
record Done(long count, boolean complete) {}
