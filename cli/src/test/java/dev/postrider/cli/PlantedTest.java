package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody who may create in {@code public} waits for an operator, who has more rights. */
@Tag("EN-13")
class PlantedTest {
  /** They match the types in an operator's statements better than what the server has. */
  private static final String PLANT =
      """
      create function public.caught() returns text language plpgsql as
        $$ begin raise exception 'a planted function runs'; end $$;
      create function public.unnest(uuid[]) returns setof uuid language sql as
        'select public.caught()::uuid';
      create function public.format(text, text) returns text language sql as 'select public.caught()';
      create function public.add(text[], text) returns text[] language sql as
        'select array[public.caught()]';
      create aggregate public.array_agg(text) (sfunc = public.add, stype = text[], initcond = '{}');
      create function public.compare(text, varchar) returns boolean language sql as
        'select public.caught() is null';
      create operator public.= (leftarg = text, rightarg = varchar, function = public.compare);
      create function public.compare(name, varchar) returns boolean language sql as
        'select public.caught() is null';
      create operator public.= (leftarg = name, rightarg = varchar, function = public.compare);
      create function public.compare(text, date) returns text language sql as 'select public.caught()';
      create operator public.|| (leftarg = text, rightarg = date, function = public.compare);
      create function public.compare(int, interval) returns interval language sql as
        'select public.caught()::interval';
      create operator public.* (leftarg = int, rightarg = interval, function = public.compare);
      """;

  @TempDir private Path folder;

  @Test
  void anOperatorsCommandsUseNothingOfIt() throws Exception {
    Desk desk = Desk.ready(folder);
    String id = desk.enqueue(NewMessage.to("shop", "orders").key("k").json("{}"));
    desk.carry(Outcome.terminal("bad", "no"), DeadPolicy.BLOCK);
    desk.execute(PLANT);
    for (List<String> command :
        List.of(
            List.of("tail", "--count", "1"),
            List.of("messages"),
            List.of("messages", "show", id),
            List.of("dead"),
            List.of("keys"),
            List.of("status"),
            List.of("audit"),
            List.of("doctor"))) {
      Result result = desk.run(command.toArray(String[]::new));
      assertThat(result.out() + result.err())
          .as("%s", command)
          .isNotEmpty()
          .doesNotContain("planted function", "could not be checked");
    }
  }
}
