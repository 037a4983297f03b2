/**
 * What every process under measurement runs: a {@link dev.postrider.bench.peer.Peer} does the work,
 * the {@link dev.postrider.bench.peer.Harness} takes orders on standard input, times it and answers
 * on standard output. No library of ours or of a peer must be here, so that none mixes with
 * another.
 */
@NullMarked
package dev.postrider.bench.peer;

import org.jspecify.annotations.NullMarked;
