/** The checks of an image that a policy asks for, and their verdicts. Each has a veto: nothing is changed before it passes, or what was changed goes back. */
import { hash } from 'node:crypto';
import type { ImagePolicy } from './image-policy.ts';
import type { Candidate } from './image-reference.ts';
import type { CheckRecord } from './check-record.ts';

/**
 * When a check is asked. before: before anything is changed · during: as soon as something was changed, until its rollout is over · after: when what was changed
 * has rolled out. With waves, during and after are about the first wave, and the others wait for the verdict.
 */
export const checkPhases = ['before', 'during', 'after'] as const;
export type CheckPhase = (typeof checkPhases)[number];

/** One check of an image. */
export interface CheckSettings {
  /** The unique name within the policy. */
  readonly name: string;
  readonly phase: CheckPhase;
  /** The time between two questions, in ms. */
  readonly everyMs: number;
  /** How long every answer must be good before the check passes, in ms; absent if the first good answer is enough. */
  readonly forMs?: number;
  /** How long an answer is waited for, in ms, in addition to `forMs`. */
  readonly timeoutMs: number;
  /** How many bad answers are forgiven. */
  readonly retries: number;
  readonly question: CheckQuestion;
}

/** The question of a check: an endpoint, a query, a Job or an AnalysisRun. */
export type CheckQuestion =
  | { readonly kind: 'http'; readonly url: string; readonly secret: { readonly name: string; readonly key: string } }
  | PrometheusQuestion
  | { readonly kind: 'job'; /** The suspended CronJob in the namespace of the policy. */ readonly cronJob: string }
  | { readonly kind: 'analysis'; /** The AnalysisTemplate of Argo Rollouts in the namespace of the policy. */ readonly template: string };

/** A query whose results must all be in a range. */
export interface PrometheusQuestion {
  readonly kind: 'prometheus';
  /** The name of a server of the configuration. */
  readonly server: string;
  readonly query: string;
  readonly min?: number;
  readonly max?: number;
  /** The meaning of a result without a number: none, or NaN. */
  readonly noData: 'Wait' | 'Pass' | 'Fail';
}

/** A Prometheus that the operator offers to policies. */
export interface PrometheusServer {
  readonly name: string;
  readonly url: string;
  /** The current bearer token, if the server asks for one. */
  readonly token: () => string | undefined;
  /** The namespaces whose policies may ask the server; empty for all. */
  readonly namespaces: readonly string[];
}

/** One answer. none: there is no answer yet, and the check is asked again until its timeout. */
export interface CheckAnswer {
  readonly kind: 'pass' | 'fail' | 'none';
  readonly message: string;
}

type Owner = Pick<ImagePolicy, 'namespace' | 'name'> & { readonly uid?: string };

/**
 * The id of a check of an image, which endpoints and Jobs see. It is another one after an edit of the check, and when the check is begun anew, so that no verdict
 * is taken for that of another question.
 */
export function checkId({ uid = '' }: Owner, check: CheckSettings, { tag, digest = '' }: Candidate, startedAt: string): string {
  return hash('sha256', JSON.stringify([uid, questionOf(check), tag, digest, startedAt])).slice(0, 32);
}

/** What makes a check the same one: all its settings, in a fixed order. */
function questionOf({ name, phase, everyMs, forMs, timeoutMs, retries, question }: CheckSettings): unknown {
  return [name, phase, everyMs, forMs ?? 0, timeoutMs, retries, Object.entries(question).toSorted(([a], [b]) => (a < b ? -1 : 1))];
}

/** The end of the time in which a check must have a verdict, in ms since 1970. */
export function deadlineOfCheck({ forMs = 0, timeoutMs }: CheckSettings, { startedAt }: Pick<CheckRecord, 'startedAt'>): number {
  return Date.parse(startedAt) + forMs + timeoutMs;
}

/** Whether a record is about an image. An unknown digest says nothing about an image whose digest is known: the tag may have moved in between. */
export function isOfImage(record: CheckRecord, { tag, digest }: Candidate): boolean {
  return record.tag === tag && record.digest === digest;
}

/** Whether a record is known to be about another image: an unknown digest does not distinguish. */
export function isOfOtherImage(record: Pick<CheckRecord, 'tag' | 'digest'>, { tag, digest }: Candidate): boolean {
  return record.tag !== tag || (record.digest !== undefined && digest !== undefined && record.digest !== digest);
}
