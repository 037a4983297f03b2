package dev.postrider.bench.peer;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** What this process uses. */
final class Self {
  private Self() {}

  static long cpuMicros() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime()
        / 1_000;
  }

  /** What is alive on the heap: asks for a collection first. */
  static long heapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
