/** Makes a failing scenario smaller: leaves out operations as long as the same invariant is broken. */
import { runScenario, type Verdict } from './run.ts';
import type { Scenario } from './scenario.ts';

export interface Shrunk {
  readonly scenario: Scenario;
  readonly verdict: Verdict;
}

/** The smallest scenario that was found. */
export async function shrink(
  scenario: Scenario,
  invariant: string,
  run: (scenario: Scenario) => Promise<Verdict> = runScenario,
): Promise<Shrunk> {
  let smallest: Shrunk = { scenario, verdict: await run(scenario) };
  const attempt = async (smaller: Scenario): Promise<boolean> => {
    const verdict = await run(smaller);
    if (!verdict.violations.some((one) => one.invariant === invariant)) return false;
    smallest = { scenario: smaller, verdict };
    return true;
  };
  await attempt({ ...scenario, setup: { ...scenario.setup, hasNoise: false } });
  for (let size = Math.ceil(scenario.operations.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < smallest.scenario.operations.length;) {
      const { operations } = smallest.scenario;
      const isSmaller = await attempt({ ...smallest.scenario, operations: operations.toSpliced(start, size) });
      if (!isSmaller) start += size;
    }
  }
  return smallest;
}
