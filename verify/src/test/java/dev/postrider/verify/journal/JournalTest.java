package dev.postrider.verify.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  @TempDir private Path directory;

  private static Entry.Rollback entry(int number) {
    return new Entry.Rollback(number, "t" + number);
  }

  @Test
  void keepsWhatManyThreadsAppend() throws Exception {
    try (Journal journal = Journal.open(directory, "j")) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int first = i * 100;
        Thread thread =
            new Thread(
                () -> {
                  for (int j = 0; j < 100; j++) {
                    journal.append(entry(first + j));
                  }
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(Journal.read(directory, "j"))
        .hasSize(400)
        .containsAll(List.of(entry(0), entry(399)))
        .doesNotHaveDuplicates();
  }

  @Test
  void leavesOutALineThatADeadProcessDidNotFinish() throws Exception {
    try (Journal journal = Journal.open(directory, "j")) {
      journal.append(entry(1));
    }
    Files.writeString(directory.resolve("j.journal"), "2\trollback\tt", StandardOpenOption.APPEND);
    assertThat(Journal.read(directory, "j")).containsExactly(entry(1));
    try (Journal journal = Journal.open(directory, "j")) {
      journal.append(entry(3));
    }
    assertThat(Journal.read(directory, "j")).containsExactly(entry(1), entry(3));
  }
}
