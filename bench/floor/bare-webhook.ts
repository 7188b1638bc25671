/** Fastify and one BullMQ add, nothing else: what webhooks are compared with. Arguments: port, URL of Redis. */
import { Queue } from 'bullmq';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const [port, redisUrl = ''] = process.argv.slice(2);
const queue = new Queue('bare', { connection: new Redis(redisUrl), skipVersionCheck: true });
const app = Fastify({ logger: false });
app.get('/', () => ({}));
app.post('/', async (request, reply) => {
  await queue.add('push', request.body);
  return reply.code(202).send({ accepted: true });
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
