package dev.postrider.examples.stage;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Runs an example as a user would, and returns what it printed. For tests, one at a time. */
public final class Rehearsal {
  /** The example's main. */
  @FunctionalInterface
  public interface Program {
    void run(String[] arguments) throws Exception;
  }

  private Rehearsal() {}

  public static String of(Program program, String... arguments) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      program.run(arguments);
    } finally {
      System.setOut(before);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }
}
