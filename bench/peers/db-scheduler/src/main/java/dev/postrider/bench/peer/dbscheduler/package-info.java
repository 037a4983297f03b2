/** db-scheduler under measurement. */
@NullMarked
package dev.postrider.bench.peer.dbscheduler;

import org.jspecify.annotations.NullMarked;
