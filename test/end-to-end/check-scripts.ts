/** What the storm of checks pushes, and what goes wrong with each image: a table, drawn by a seed. */
import type { Random } from '../simulation/random.ts';

export const kinds = ['http', 'prometheus', 'job'] as const;
export const phases = ['before', 'during', 'after'] as const;
export type Kind = (typeof kinds)[number];
export type Phase = (typeof phases)[number];

/** What a question is answered on the way to the verdict. */
export type Fault = 'refused' | 'slow' | 'reset' | 'silence' | 'nothing' | 'NaN' | 'no number' | 'gone';

/**
 * When processes are killed. asked: both, while the question is open · verdict, job, change, back: the one that writes the verdict, creates the Job, changes the
 * Deployment, or changes it back; the request is lost, or done and its answer lost.
 */
export type Moment = 'asked' | `${'verdict' | 'job' | 'change' | 'back'} ${'lost' | 'done'}`;

/** One image. never: there is no answer in time. */
export interface Script {
  readonly tag: string;
  readonly verdict: 'pass' | 'fail' | 'never';
  /** What the first questions are answered; a Job ends when it was looked at as often. */
  readonly faults: readonly Fault[];
  readonly kill?: Moment;
  /** Whether the pods of the image come up only after the verdict. */
  readonly isSlow: boolean;
}

/** A policy with one check, and the images that are pushed to it one after the other. */
export interface Line {
  readonly name: string;
  readonly kind: Kind;
  readonly phase: Phase;
  readonly scripts: readonly Script[];
}

const faultsOf: Readonly<Record<Kind, readonly Fault[]>> = {
  http: ['refused', 'slow', 'reset', 'nothing'],
  prometheus: ['refused', 'slow', 'reset', 'nothing', 'NaN', 'no number'],
  job: ['slow'],
};

/** The moments that come for sure with an image of this verdict. */
function momentsOf(kind: Kind, phase: Phase, verdict: 'pass' | 'fail'): readonly Moment[] {
  const both = (what: 'verdict' | 'job' | 'change' | 'back'): readonly Moment[] => [`${what} lost`, `${what} done`];
  return [
    ...(kind === 'job' ? both('job') : (['asked'] as const)),
    ...both('verdict'),
    ...(phase === 'before' && verdict === 'fail' ? [] : both('change')),
    ...(phase !== 'before' && verdict === 'fail' ? both('back') : []),
  ];
}

/** Draws `images` images for each kind and phase, good and bad by turns, of which every second one meets a kill. */
export function drawLines(random: Random, images: number): Line[] {
  let turn = 0;
  return kinds.flatMap((kind) =>
    phases.map((phase): Line => {
      const scripts = Array.from({ length: images }, (_, index): Script => {
        const verdict = random.chance(0.5) ? 'pass' : 'fail';
        const moments = momentsOf(kind, phase, verdict);
        const kill = index % 2 === 1 ? moments[turn++ % moments.length] : undefined;
        const faults = Array.from({ length: random.integer(0, 2) }, () => random.pick(faultsOf[kind]));
        const isSlow = phase === 'during' && verdict === 'fail' && random.chance(0.5);
        return { tag: `1.0.${index + 1}`, verdict, faults, isSlow, ...(kill !== undefined && { kill }) };
      });
      return { name: `${kind}-${phase}`, kind, phase, scripts };
    }),
  );
}

/** What never gives an answer, for each kind and phase. */
const endless: Readonly<Record<Kind, Readonly<Record<Phase, Fault>>>> = {
  http: { before: 'gone', during: 'refused', after: 'silence' },
  prometheus: { before: 'refused', during: 'nothing', after: 'gone' },
  job: { before: 'gone', during: 'slow', after: 'gone' },
};

/** One image for each kind and phase that gets no answer in time. */
export function endlessLines(): Line[] {
  return kinds.flatMap((kind) =>
    phases.map((phase): Line => {
      const script: Script = { tag: '1.0.1', verdict: 'never', faults: [endless[kind][phase]], isSlow: false };
      return { name: `never-${kind}-${phase}`, kind, phase, scripts: [script] };
    }),
  );
}
