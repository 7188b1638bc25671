/** A thread that runs seeds: virtual time replaces what is global, so that each thread runs one seed at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { runScenario, type Verdict } from './run.ts';
import { drawScenario } from './scenario.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly withPeople: boolean;
}

export interface SeedResult extends Pick<Verdict, 'violations' | 'patches' | 'pushes'> {
  readonly seed: number;
}

const port = parentPort;
if (port === null) throw new Error(`a worker thread, not a program (${String(workerData)})`);
const post = (result: SeedResult) => port.postMessage(result);

async function answer({ seed, withPeople }: SeedRequest): Promise<SeedResult> {
  const { violations, patches, pushes } = await runScenario(drawScenario(seed, withPeople));
  return { seed, violations, patches, pushes };
}

port.on('message', (request: SeedRequest) => {
  // An error ends the thread, and with it the run.
  void answer(request).then(post);
});
