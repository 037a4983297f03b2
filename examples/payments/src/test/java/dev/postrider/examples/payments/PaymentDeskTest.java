package dev.postrider.examples.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.message.Enqueued;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Instructions, their messages and their numbers. */
@TestInstance(Lifecycle.PER_CLASS)
class PaymentDeskTest {
  @AutoClose private final Bureau bureau = new Bureau();

  private static Instruction instruction(String id, String participant, long amount) {
    return new Instruction(id, participant, Rail.SEPA, amount, "EUR", Bureau.IBAN);
  }

  @Test
  @Tag("PO-2")
  void theSameInstructionAgainIsTheFirstMessageAndTakesNoNumber() throws Exception {
    Enqueued first = bureau.desk.submit(instruction("same", "ann", 5), "k");
    Enqueued again = bureau.desk.submit(instruction("same", "ann", 5), "k");
    Enqueued next = bureau.desk.submit(instruction("next", "ann", 5), "k");
    assertThat(again).isEqualTo(new Enqueued(first.id(), first.sequence(), true));
    assertThat(next.sequence()).isEqualTo(2);
  }

  @Test
  @Tag("PO-1")
  @Tag("PO-2")
  void otherContentsUnderTheSameIdAreRefusedAndLeaveNoGap() throws Exception {
    bureau.desk.submit(instruction("taken", "bob", 5), "k");
    List<Instruction> others =
        List.of(
            instruction("taken", "bob", 6),
            instruction("taken", "eve", 5),
            new Instruction("taken", "bob", Rail.WALLET, 5, "EUR", Bureau.IBAN));
    for (Instruction other : others) {
      assertThatThrownBy(() -> bureau.desk.submit(other, "k"))
          .hasMessage("instruction taken exists with other contents; give it a new id");
    }
    assertThatThrownBy(() -> bureau.desk.submit(instruction("taken", "bob", 5), "other key"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(bureau.desk.submit(instruction("free", "bob", 5), "k").sequence()).isEqualTo(2);
  }

  @Test
  @Tag("PO-1")
  void numbersHaveNoGapWhoeverSubmitsAtTheSameTime() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Long>> submits = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        // Every id comes twice: one of the two is the first, whichever.
        Instruction instruction = instruction("many" + i / 2, "cid", 5);
        submits.add(() -> bureau.desk.submit(instruction, "k").sequence());
      }
      for (Future<Long> submit : threads.invokeAll(submits)) {
        assertThat(submit.get()).isBetween(1L, 20L);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(
            bureau.database.column(
                "select sequence from postrider.message where ordering_key = 'cid' order by 1"))
        .hasSize(20)
        .startsWith("1", "2")
        .endsWith("20");
    assertThat(bureau.findings()).isEmpty();
  }
}
