import { createServer } from 'node:http';
import { UnacceptableEvent, webhookHandler } from 'bellwire/receiver';

const handle = webhookHandler({
  // During a change of the secret, both: WEBHOOK_SECRETS="whsec_new whsec_old"
  secrets: (process.env.WEBHOOK_SECRETS ?? '').split(' ').filter(Boolean),
  handle: (event, { position }) => {
    switch (event.type) {
      case 'log.publish':
        console.log(`${position}: “${event.data.title}” was published by ${event.actor?.name}`);
        break;
      case 'archive.rename':
        console.log(`${position}: “${event.data.previous}” is now “${event.data.name}”`);
        break;
      case 'archive.delete':
        throw new UnacceptableEvent('Archives are kept here.');
      default:
        console.log(`${position ?? '-'}: ${event.type}`);
    }
  },
  onGap: ({ expected, received }) => console.log(`gap: ${expected} to ${received - 1} are missing`),
  onRefused: (error) => console.log(`refused: ${error.code}`),
});

const server = createServer((request, response) => {
  if (request.url === '/hooks') handle(request, response);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' && address?.port}/hooks`);
});
