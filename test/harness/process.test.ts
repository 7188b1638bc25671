import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startProcess } from './process.ts';
import { waitFor } from './wait-for.ts';

const redisModule = join(import.meta.dirname, 'redis.ts');

const endings: { name: string; afterwards: string; signal?: NodeJS.Signals }[] = [
  { name: 'returns', afterwards: '' },
  { name: 'throws', afterwards: 'throw new Error("expected by this test")' },
  { name: 'calls process.exit', afterwards: 'process.exit(3)' },
  { name: 'gets SIGTERM', afterwards: 'await new Promise(() => setInterval(() => {}, 1000))', signal: 'SIGTERM' },
  { name: 'gets SIGINT', afterwards: 'await new Promise(() => setInterval(() => {}, 1000))', signal: 'SIGINT' },
  { name: 'gets SIGKILL', afterwards: 'await new Promise(() => setInterval(() => {}, 1000))', signal: 'SIGKILL' },
];

for (const { name, afterwards, signal } of endings) {
  test(`a test server and its folder are gone when the process that started it ${name}`, async () => {
    // The line tells us where the server is, and our line back lets the program go on.
    const program = `
      import { startRedis } from ${JSON.stringify(redisModule)};
      const { port, dir } = await startRedis();
      console.log(JSON.stringify({ port, dir }));
      await new Promise((resolve) => process.stdin.once('data', resolve));
      process.stdin.destroy();
      ${afterwards}`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'ignore'] });
    const { port, dir } = await firstLine(parent.stdout);
    const connection = connect(port, '127.0.0.1');
    connection.on('error', () => undefined);
    await once(connection, 'connect');
    // Not once(): how the connection breaks does not matter.
    const serverEnded = new Promise((resolve) => connection.once('close', resolve));
    parent.stdin.write('go on\n');
    if (signal) parent.kill(signal);
    await serverEnded;
    await waitFor('the folder to be removed', () => !existsSync(dir));
  });
}

test('stop() kills a process that ignores SIGTERM', async () => {
  const child = await startProcess('/bin/sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], { name: 'stubborn' });
  await waitFor('the trap to be set', () => child.logTail().includes('ready'));
  assert.deepEqual(await child.stop(50), { code: null, signal: 'SIGKILL' });
});

test('starting a program that cannot be executed fails with its name', async () => {
  await assert.rejects(startProcess('/nowhere/at-all', [], { name: 'missing' }), /starting missing \(\/nowhere\/at-all\)/);
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<{ port: number; dir: string }> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return JSON.parse(text) as { port: number; dir: string };
}
