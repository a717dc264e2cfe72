/** Posts to each address given, at 127.0.0.1, in a process that trusts what its environment says; prints what came of it. */
import { Sender } from '../../../worker/webhooks/send.ts';

const TIMEOUT_MS = 5_000;
const sender = new Sender(TIMEOUT_MS);
for (const url of process.argv.slice(2)) {
  const answer = await sender.post({
    url: new URL(url),
    addresses: ['127.0.0.1'],
    headers: {},
    body: Buffer.from('{}'),
  });
  console.log(JSON.stringify(answer));
}
sender.close();
