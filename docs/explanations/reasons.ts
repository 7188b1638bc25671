import type { Reason } from '../../src/core/model/reasons.ts';
import { shownAs, type Explanation } from './explanation.ts';
import { ofBases } from './bases.ts';
import { findings, problems, temporary } from './problems.ts';
import { ignoredEvents, inOrder, unchanged } from './pushes.ts';
import { blocked, rollouts } from './rollouts.ts';

/** The sections of the page, by the argument of `{{reasons}}` in its template. */
export const reasonSections: Readonly<Record<string, Readonly<Partial<Record<Reason, Explanation>>>>> = {
  inOrder,
  ignoredEvents,
  unchanged,
  rollouts,
  blocked,
  ofBases,
  problems,
  findings,
  temporary,
};

/** Where most reasons of a section show: the page says it once. */
export const usuallyShown: Readonly<Record<string, string>> = {
  ignoredEvents: shownAs.ignoredEvent,
  rollouts: shownAs.rejected,
  problems: shownAs.stalled,
};

/** Every reason: one without an explanation does not compile. */
export const explanations: Readonly<Record<Reason, Explanation>> = {
  ...inOrder,
  ...ignoredEvents,
  ...unchanged,
  ...rollouts,
  ...blocked,
  ...ofBases,
  ...problems,
  ...findings,
  ...temporary,
};
