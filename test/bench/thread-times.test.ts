/** What the benchmark says that a push waits for the thread is what the thread was taken for. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { recordThreadTimes, threadWait } from '../../bench/world/thread-times.ts';
import { tempFolder } from '../harness/temp-folder.ts';

test('a thread that is taken for a hundredth of the time, in pieces of 10 ms, lets one push in two hundred wait longer than 5 ms', () => {
  const recorded = [{ at: 0, ms: 100_000, taken: Array.from({ length: 100 }, () => 10) }];
  assert.equal(threadWait(recorded, 0.99).toFixed(1), '0.0');
  assert.equal(threadWait(recorded, 0.995).toFixed(1), '5.0');
  assert.equal(threadWait(recorded, 0.9999).toFixed(1), '9.9');
  assert.equal(threadWait([{ at: 0, ms: 1_000, taken: [] }], 0.99), 0);
});

test('a process that computes for 50 ms in one piece is recorded with at least that much, and between the right times', async () => {
  const times = recordThreadTimes();
  const script = join(tempFolder('thread-times'), 'script.mjs');
  writeFileSync(
    script,
    `import { existsSync } from 'node:fs';
    import { env, exit, threadCpuUsage } from 'node:process';
    setTimeout(() => { const start = threadCpuUsage(); while (threadCpuUsage(start).user < 50_000); }, 100);
    setInterval(() => existsSync(env.THREAD_TIMES) && exit(), 10);`,
  );
  const begin = Date.now();
  await promisify(execFile)(process.execPath, [...times.nodeOptions, script], { env: { ...process.env, ...times.env } });
  const recorded = times.between(begin, Date.now());
  assert.ok(Math.max(...recorded.flatMap(({ taken }) => taken)) >= 50, JSON.stringify(recorded));
  assert.deepEqual(times.between(0, begin), []);
});
