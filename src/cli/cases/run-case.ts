/** Runs one case: plays its images until the time at which the policy is asked, and compares what it decides then. */
import { PermanentError } from '../../core/model/errors.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import type { PastImage } from '../backtest/past-image.ts';
import { assume } from '../backtest/assume.ts';
import { readPastImages } from '../backtest/past-schema.ts';
import { play } from '../backtest/play.ts';
import type { UsablePolicy } from '../backtest/read-offline.ts';
import type { Config } from '../../service/config/settings.ts';
import type { TestCase } from './cases-file.ts';

/** What the policy decided at the end of a case. */
export interface Found {
  readonly image: string;
  readonly selected?: string | undefined;
  readonly reason: string;
  readonly message: string;
}

export interface CaseResult {
  readonly name: string;
  readonly policy: string;
  readonly found: Found;
  /** What is not as expected, one sentence each; empty if the case passes. */
  readonly failures: readonly string[];
}

/** Runs a case. A policy that decides nothing is a result with the reason. */
export async function runCase(
  one: TestCase,
  policy: UsablePolicy,
  { guards: { repeatsPerHour } }: Pick<Config, 'guards'>,
  signal: AbortSignal,
): Promise<CaseResult> {
  const found = await decide(one, policy, repeatsPerHour, signal);
  const { image, selected, reason } = one.expect;
  const wants: readonly (readonly [what: string, expected: string | undefined, found: string | undefined])[] = [
    ['runs', image, found.image],
    ['selects', selected, found.selected],
    ['says', reason, found.reason],
  ];
  const failures = wants.flatMap(([what, expected, got]) =>
    expected === undefined || expected === got ? [] : [`${what} ${got ?? 'nothing'}, expected ${expected}`],
  );
  return { name: one.name, policy: one.policy, found, failures };
}

async function decide(one: TestCase, policy: UsablePolicy, repeatsPerHour: number, signal: AbortSignal): Promise<Found> {
  const at = Date.parse(one.at);
  const pushes = imagesOf(one, policy, at);
  try {
    const assumed = assume(policy, policy.spec, one.approved === true);
    const from = Math.min(at, ...pushes.map(({ pushedAt }) => pushedAt));
    const { decisions, last } = await play(
      assumed.policy,
      pushes,
      { from, to: at, runs: one.runs, asksAtEnd: true, repeatsPerHour },
      signal,
    );
    const { reason, message, tag } = decisions.at(-1) ?? { reason: 'UpToDate', message: 'nothing was decided' };
    const image = tryParseImageReference(last)?.tag ?? last;
    return { image, selected: tag, reason, message };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return { image: one.runs ?? '', reason: error.reason, message: error.message };
  }
}

/** The images of a case. Those without a time are there before all others. */
function imagesOf({ images }: TestCase, { spec }: UsablePolicy, at: number): readonly PastImage[] {
  const written = images.filter((image) => typeof image !== 'string');
  const begin = new Date(Math.min(at, ...written.map((image) => Date.parse(image.at))) - 1).toISOString();
  const earlier = images.filter((image) => typeof image === 'string').map((tag) => ({ tag, at: begin }));
  return readPastImages([...earlier, ...written], spec.repository);
}
