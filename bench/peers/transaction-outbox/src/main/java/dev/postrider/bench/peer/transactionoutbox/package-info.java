/** com.gruelbox:transactionoutbox-core under measurement. */
@NullMarked
package dev.postrider.bench.peer.transactionoutbox;

import org.jspecify.annotations.NullMarked;
