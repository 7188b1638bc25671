import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compose } from '../../../src/service/compose/compose.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

test('a process that is asked to stop is unready from that moment on, while it still answers', { timeout: 60_000 }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const file = join(tempFolder('stopping'), 'config.yaml');
  const anywhere = { host: '127.0.0.1', port: 0 };
  const receivers = [{ name: 'any', provider: 'harbor', unauthenticated: true }];
  writeFileSync(file, JSON.stringify({ listen: anywhere, operations: anywhere, redis: { url: redis.url }, receivers }));
  const telemetry = { logger: createLogger('silent'), tracing: undefined };
  const service = await compose(loadSettings({ file, env: {} }), new Set(['receive']), telemetry, []);
  await service.start();
  const { public: open, operations } = service.addresses();
  const readyz = async () => {
    const answer = await fetch(`${operations}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  await waitFor('readiness', async () => (await readyz()).status === 200);
  const stopped = service.stop(5_000);
  const [ready, push] = await Promise.all([readyz(), fetch(`${open}/webhooks/any`, { method: 'POST', body: '{}' })]);
  assert.equal(ready.status, 503);
  assert.match(ready.text, /\[-\]running failed: stopping/);
  assert.equal(push.status, 200);
  await push.arrayBuffer();
  await stopped;
  await assert.rejects(readyz());
});
