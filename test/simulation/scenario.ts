/** What happens in a seed: its setup, and its operations in the order of time. */
import { drawBaseOperations } from './base-operations.ts';
import { drawBase } from './base-setup.ts';
import { drawCharts } from './chart-setup.ts';
import { drawSourceOperations } from './chart-operations.ts';
import { drawCheckOperations, drawChecks } from './check-setup.ts';
import { drawEnvironments, drawOutages } from './environment-setup.ts';
import { faults } from './faults.ts';
import type { Operation, OperationKind } from './operation.ts';
import { people } from './people.ts';
import { createPushDrawer } from './pushes.ts';
import { createRandom, type Random } from './random.ts';
import { drawScanned, drawScanOperations } from './scanned-setup.ts';
import { drawSetOperations } from './set-operations.ts';
import { drawSets } from './set-setup.ts';
import { drawSetup, type Setup } from './setup.ts';

export interface Scenario {
  readonly seed: number;
  readonly setup: Setup;
  readonly operations: readonly Operation[];
}

/** When operations begin, and how long they go on. */
const firstMs = 2_000;
const lastMs = 40_000;

/** Draws it; the same for the same seed. */
export function drawScenario(seed: number, withPeople: boolean): Scenario {
  const random = createRandom(seed);
  const own = drawSetup(random.fork('setup'));
  const { workloads = [], policies = [], sources = [] } = drawCharts(random.fork('charts')) ?? {};
  const environments = drawEnvironments(random.fork('environments'));
  const sets = drawSets(random.fork('sets'));
  const checked = drawChecks(random.fork('checks'));
  const scanned = drawScanned(random.fork('scanned'));
  const further = [environments, sets, checked, scanned];
  const setup: Setup = {
    ...own,
    workloads: [...own.workloads, ...workloads, ...further.flatMap((one) => one?.workloads ?? [])],
    policies: [
      ...own.policies,
      ...policies,
      ...(environments?.policies ?? []),
      ...[sets, checked, scanned].flatMap((one) => (one === undefined ? [] : [one.policy])),
    ],
    sources,
    base: drawBase(random.fork('base')),
  };
  const drawn = random.fork('operations');
  const drawPush = createPushDrawer(random.fork('pushes'), {
    ...setup,
    policies: setup.policies.filter(({ alongside }) => alongside === undefined),
  });
  const operations: Operation[] = [];
  for (let at = firstMs; at < lastMs; at += drawn.between(80, 2_600)) {
    const share = drawn.next();
    if (share < 0.4) operations.push(drawPush(at));
    else operations.push(drawOf(withPeople && share < 0.65 ? people : faults, at, drawn, setup));
  }
  const ofBase =
    setup.base === undefined ? [] : drawBaseOperations(random.fork('bases'), setup, setup.base, { firstMs, lastMs, withPeople });
  const ofSources = withPeople ? drawSourceOperations(random.fork('sources'), setup, { firstMs, lastMs }) : [];
  const outages = environments === undefined ? [] : drawOutages(random.fork('outages'), environments, { firstMs, lastMs });
  const span = { firstMs, lastMs, withPeople };
  const ofSets = sets === undefined ? [] : drawSetOperations(random.fork('set operations'), sets, span);
  const ofChecks = checked === undefined ? [] : drawCheckOperations(random.fork('operations of checks'), span);
  const ofScans = scanned === undefined ? [] : drawScanOperations(random.fork('operations of scans'), span);
  return {
    seed,
    setup,
    operations: [...operations, ...ofBase, ...ofSources, ...outages, ...ofSets, ...ofChecks, ...ofScans].toSorted((a, b) => a.at - b.at),
  };
}

function drawOf(kinds: readonly OperationKind[], at: number, random: Random, setup: Setup): Operation {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  const kind = kinds.find(({ weight }) => (left -= weight) < 0) ?? random.pick(kinds);
  return { at, name: kind.name, run: kind.draw(random, setup) };
}
