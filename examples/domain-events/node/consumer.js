// Reads a queue of the example with Node, as any program in any language can.
//
//   npm install
//   node consumer.js amqp://guest:guest@localhost notifications 10
//
// Prints a line for each event and ends after so many messages; without a number it goes on.
import amqp from "amqplib";

const [url, queue, count = "Infinity"] = process.argv.slice(2);
if (!url || !queue || !(Number(count) > 0)) {
  console.error("expected: node consumer.js <amqp url> <queue> [number of messages]");
  process.exit(2);
}

const connection = await amqp.connect(url);
const channel = await connection.createChannel();
await channel.checkQueue(queue); // the topology is declared elsewhere
await channel.prefetch(10);

// For show. A real consumer inserts (consumer, event id) into its inbox table, on conflict do
// nothing, in the transaction of the effect; if nothing was inserted it skips the effect.
const seen = new Set();
let left = Number(count);

await channel.consume(queue, async (message) => {
  if (message === null || left === 0) return; // cancelled, or the rest goes back
  const id = message.properties.messageId;
  const event = JSON.parse(message.content.toString());
  console.log(
    JSON.stringify({
      id,
      event: message.fields.routingKey,
      aggregate: event.aggregate_id,
      group: message.properties.headers["x-group-id"],
      subsidiary: message.properties.headers["x-subsidiary-id"],
      duplicate: seen.has(id),
    }),
  );
  seen.add(id);
  channel.ack(message);
  left -= 1;
  if (left === 0) {
    await channel.close(); // after the acks, in order
    await connection.close();
  }
});
