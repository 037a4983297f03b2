// Reads the example's events with Node, as any program in any language can.
//
//   npm install
//   node consumer.js amqp://guest:guest@localhost [queue] [number of messages]
//
// Without a queue it makes one of its own for orders, which goes away with it. A queue that is named
// must exist, and is shared with whoever else reads it: each event goes to one of them. Prints a line
// for each event.
import amqp from "amqplib";

const OWN = "orders.consumer";
const [url, queue = OWN, count = "Infinity"] = process.argv.slice(2);
if (!url || !(Number(count) > 0)) {
  console.error("expected: node consumer.js <amqp url> [queue] [number of messages]");
  process.exit(2);
}

const fail = (error) => {
  console.error(`consumer: ${error.message}`);
  process.exit(1);
};
const connection = await amqp.connect(url).catch(fail);
connection.on("error", fail);
const channel = await connection.createChannel();
channel.on("error", fail);
if (queue === OWN) {
  await channel.assertQueue(OWN, { durable: false, autoDelete: true });
  await channel.bindQueue(OWN, "holdco.events", "order.*");
}
await channel.prefetch(10);

// For show. A real consumer inserts (consumer, event id) into its inbox table, on conflict do
// nothing, in the transaction of the effect; if nothing was inserted it skips the effect.
const seen = new Set();
let left = Number(count);

await channel.consume(queue, async (message) => {
  if (message === null || left === 0) return; // cancelled, or the rest goes back
  const { messageId, headers } = message.properties;
  const event = JSON.parse(message.content.toString());
  console.log(
    JSON.stringify({
      id: messageId,
      event: message.fields.routingKey,
      aggregate: event.aggregate_id,
      group: headers["x-group-id"],
      subsidiary: headers["x-subsidiary-id"],
      duplicate: seen.has(messageId),
    }),
  );
  seen.add(messageId);
  channel.ack(message);
  left -= 1;
  if (left === 0) {
    await channel.close(); // after the acks, in order
    await connection.close();
  }
});
