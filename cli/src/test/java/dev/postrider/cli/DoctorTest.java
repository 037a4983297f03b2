package dev.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.cli.Executable.Result;
import dev.postrider.cli.doctor.CheckedDatabase;
import dev.postrider.cli.doctor.Doctor;
import dev.postrider.cli.doctor.Finding;
import dev.postrider.message.NewMessage;
import dev.postrider.message.Outcome;
import dev.postrider.message.RetryPolicy.DeadPolicy;
import dev.postrider.schema.Schema;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("OP-1")
class DoctorTest {
  @TempDir Path folder;

  @Test
  void aHealthyDatabaseIsFoundSo() {
    Desk desk = Desk.bare(folder);
    desk.run("migrate", "--roles").ok();
    assertThat(desk.run("doctor").ok())
        .doesNotContain("trouble ")
        .containsPattern("ok +schema +\"postrider\" is up to date")
        .containsPattern("ok +listen +notifications arrive")
        .containsPattern("ok +partitions");
    assertThat(desk.run("doctor", "--json").json()).containsEntry("trouble", false);
  }

  @Test
  void whatIsWrongIsFound() throws Exception {
    Desk desk = Desk.bare(folder);
    Result bare = desk.run("doctor");
    assertThat(bare.exitCode()).isEqualTo(1);
    assertThat(bare.out()).containsPattern("trouble +schema .*is not there");

    desk.run("migrate", "--roles").ok();
    desk.execute(
        """
        drop index postrider.message_by_tenant;
        drop function postrider.reap();
        grant execute on function postrider.backlog to public;
        delete from postrider.migration where file = 'functions';
        insert into postrider.pause (kind, name, paused_by) values ('topic', 'a/b', 'ann');
        insert into postrider.worker (name) values ('dead');
        insert into postrider.lease values (1, 1, now(), now() - interval '1 hour', 5, '{}');
        do $$ declare p record; begin
          for p in select parent, name from postrider.partition where not is_default loop
            execute format('alter table postrider.%I detach partition postrider.%I', p.parent, p.name);
          end loop;
        end $$;
        """);
    desk.enqueue(NewMessage.to("a", "c").key("k").json("{}"));
    Result sick = desk.run("doctor");
    assertThat(sick.exitCode()).isEqualTo(1);
    assertThat(sick.out())
        .containsPattern(
            "trouble +objects +missing or invalid: function reap, index message_by_tenant")
        .containsPattern("trouble +roles +everybody may call backlog")
        .containsPattern("trouble +schema +1 migrations are missing: functions")
        .containsPattern("trouble +partitions +missing: attempt of ")
        .containsPattern("trouble +leases +5 messages")
        .containsPattern("note +paused +topic a/b");
    assertThat(
            Doctor.troubles(
                new CheckedDatabase(desk.dataSource(), desk.dataSource(), Schema.DEFAULT)))
        .extracting(Finding::check)
        .containsExactly("partitions");
  }

  @Test
  void aCopyWhoseSequencesWereLeftBehindIsTrouble() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.enqueue(NewMessage.to("a", "c").key("k").json("{}"));
    desk.enqueue(NewMessage.to("a", "c").key("l").json("{}"));
    assertThat(desk.run("doctor").out()).containsPattern("ok +sequences");
    desk.execute(
        """
        select setval('postrider.ordering_key_id_seq', 1, false),
               setval('postrider.lease_token', 1, false)
        """);
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +sequences +behind .*: lease_token, ordering_key_id_seq");
    desk.execute("select postrider.advance_sequences('ann')");
    assertThat(desk.run("doctor").out()).containsPattern("ok +sequences");
  }

  @Test
  @Tag("OP-8")
  void retentionThatFailsOrDoesNotRunIsTrouble() throws Exception {
    Desk desk = Desk.ready(folder);
    assertThat(desk.run("doctor").out()).containsPattern("note +retention +has not run yet");
    desk.execute(
        """
        insert into postrider.retention_run (holder, until, every) values ('r', now(), '1 h');
        insert into postrider.retention (task, period, started_at, finished_at)
        select t, interval '90 d', now(), now() from unnest(array['inbox', 'audit']) t
        """);
    assertThat(desk.run("doctor").out())
        .containsPattern("ok +retention +2 tasks up to date")
        .containsPattern("ok +old rows");
    desk.execute(
        "update postrider.retention set finished_at = now() - interval '4 d' where task = 'inbox'");
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +retention +has not run for long: inbox");
    desk.execute(
        "update postrider.retention set wanted_at = now() - interval '4 h' where task = 'inbox'");
    assertThat(desk.run("doctor").out())
        .as("no relay has a period for it any more")
        .containsPattern("ok +retention +1 task up to date");
    desk.execute("update postrider.retention set error = 'no space left' where task = 'audit'");
    desk.execute(
        "insert into postrider.inbox (consumer, message_id, processed_at)"
            + " select 'c', gen_random_uuid(), now() - interval '100 d' from generate_series(1, 5000)");
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +retention +audit: no space left")
        .containsPattern("trouble +old rows +over its retention: inbox");
    assertThat(desk.run("status", "--json").json().get("retention").toString())
        .contains("task=audit", "no space left");
  }

  @Test
  @Tag("EN-23")
  void aCatchUpThatHasStalledIsTrouble() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(
        "select postrider.subscription_add_from('ann', 'shop', 'orders', 'mail', '2026-01-01')");
    assertThat(desk.run("doctor").out()).containsPattern("ok +catch-up");
    desk.execute("update postrider.replay_job set updated_at = now() - interval '6 minutes'");
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +catch-up .*: shop/orders#mail \\(replay 1\\)")
        .contains("./postrider replay resume JOB");
    desk.execute("update postrider.replay_job set updated_at = now(), state = 'stopped'");
    assertThat(desk.run("doctor").out()).containsPattern("trouble +catch-up");
    desk.run("replay", "resume", "1").ok();
    assertThat(desk.run("doctor").out()).containsPattern("ok +catch-up");
    desk.execute("update postrider.route set catching_up = true, active = false where number = 1");
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +catch-up .*: shop/orders#mail \\(removed\\)")
        .contains("./postrider subscriptions remove TOPIC NAME --discard");
  }

  @Test
  void everyRoleIsLookedAt() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.run("migrate", "--roles").ok();
    assertThat(desk.run("doctor").out()).containsPattern("ok +roles +the five roles");
    desk.execute("revoke usage on schema postrider from postrider_server");
    assertThat(desk.run("doctor").out())
        .containsPattern("note +roles +not there, or without grants: postrider_server");
  }

  @Test
  void oldMessagesAttemptsKeysAndDeadLettersAreSeen() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(
        """
        insert into postrider.retention (task, period, started_at, finished_at)
        select t, interval '30 d', now(), now() from unnest(array['messages', 'dead_letters', 'ordering_keys']) t;
        select postrider.intern_route('shop', 'orders'), postrider.worker_id('old');
        insert into postrider.message (id, created_at, route, is_json, payload)
        select overlay(postrider.id_floor(now() - interval '40 d')::text placing lpad(to_hex(i), 12, '0') from 25)::uuid,
               now() - interval '40 d', 1, false, 'x' from generate_series(1, 500) i;
        insert into postrider.attempt (message_id, finished_at, worker, no, delivery, state)
        select postrider.id_floor(now() - interval '40 d'), now() - interval '40 d', 1, 1, 1, 1
          from generate_series(1, 500) i;
        insert into postrider.dead_letter
          (message_id, delivery, route, attempts, died_at, resolved_at, resolution)
        select gen_random_uuid(), 1, 1, 1, now() - interval '40 d', now() - interval '40 d', 'requeued'
          from generate_series(1, 500) i;
        insert into postrider.ordering_key (namespace, key, last_sequence, used_at)
        select 'shop', 'k' || i, 1, now() - interval '40 d' from generate_series(1, 500) i
        """);
    assertThat(desk.run("doctor").out().replaceAll("\\s+", " "))
        .contains("over its retention: message, attempt, dead_letter, ordering_key");
  }

  @Test
  void blockedKeysAreTrouble() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.enqueue(NewMessage.to("a", "c").key("k").json("{}"));
    assertThat(desk.run("doctor").out()).containsPattern("trouble +relays +none runs; 1 pending");
    desk.carry(Outcome.terminal("no", "no"), DeadPolicy.BLOCK);
    assertThat(desk.run("doctor").out())
        .containsPattern("trouble +dead +1 blocked key, each behind a dead message")
        .containsPattern("note +roles");
  }

  @Test
  void moreBlockedKeysThanAreCountedAreMarkedSo() throws Exception {
    Desk desk = Desk.ready(folder);
    desk.execute(
        """
        insert into postrider.dead_letter
          (message_id, delivery, route, key_id, attempts, blocking, died_at)
        select gen_random_uuid(), 1, 1, n, 3, true, now() from generate_series(1, 10001) n
        """);
    assertThat(desk.run("status").ok()).contains("10,000+ blocked keys");
    assertThat(desk.run("status", "--json").json())
        .containsEntry("blocked_keys", 10_000)
        .containsEntry("blocked_keys_at_least", true);
    assertThat(desk.run("doctor").out()).containsPattern("trouble +dead +10,000\\+ blocked keys");
  }
}
