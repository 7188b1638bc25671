import { basename, relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const everyMs = 10_000;

/** Says now and then how far the tests are and which files are still running, and at once which test failed; the readable report shows a file only after those before it have ended. */
// oxlint-disable-next-line import/no-default-export -- node --test takes a reporter's default export
export default async function* slowFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const running = new Map<string, number>();
  let finished = 0;
  let passed = 0;
  let failed = 0;
  const timer = setInterval(() => {
    const names = [...running].map(([name, since]) => `${name} (${Math.round((performance.now() - since) / 1_000)} s)`);
    process.stderr.write(`${finished} test files done, ${passed} tests passed, ${failed} failed; running: ${names.join(', ')}\n`);
  }, everyMs);
  try {
    for await (const { type, data } of events) {
      // What has passed and failed comes in the order of the files, and so only after the slowest before it; what is complete comes at once.
      if (type === 'test:complete' && isTest(data)) {
        if (data.details.passed) passed++;
        else if (!data.todo) {
          failed++;
          process.stderr.write(`✖ ${data.name} (${relative(process.cwd(), data.file ?? '')})\n`);
        }
      }
      if (type !== 'test:dequeue' && type !== 'test:complete') continue;
      // The file itself is reported as a test that is named like the file.
      if (data.nesting > 0 || !data.name.endsWith('.test.ts')) continue;
      const name = shortName(data.name);
      if (type === 'test:dequeue') running.set(name, performance.now());
      else if (running.delete(name)) finished++;
    }
  } finally {
    clearInterval(timer);
  }
  yield '';
}

/** The path in the checkout; of the files of a room, which are run together, the name of the room. */
function shortName(path: string): string {
  const place = relative(process.cwd(), path);
  return place.startsWith('..') ? basename(path, '.test.ts') : place;
}

/** A test, and neither a suite nor a whole file. */
function isTest({ name, details }: { readonly name: string; readonly details: { readonly type?: string | undefined } }): boolean {
  return details.type !== 'suite' && !name.endsWith('.test.ts');
}
