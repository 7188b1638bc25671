/** The types of a check and of its findings. */
import { inEnglish, type Said } from './say.ts';

/** ok: no action is needed; failed: somebody must act; warning: somebody should act; skipped: not checked, and the message says why. */
export type Level = 'ok' | 'failed' | 'warning' | 'skipped';

/** One line of the report. */
export interface Finding {
  /** The id of the line, `redis/appendonly`. It is stable, and a section of docs/doctor.md. Several findings may have the same line. */
  readonly line: string;
  readonly level: Level;
  /** What the line is about, if there are several findings of it: the host of a registry, the name of a receiver. */
  readonly subject?: string;
  /** The result of the check. It must never contain a secret, because everybody who may list all policies reads it. */
  readonly message: string;
  /** The action that solves the problem. */
  readonly action?: string;
  /** The message and the action as sentences with ids, for readers of other languages; absent for a text that has none. */
  readonly said?: Said;
  readonly saidAction?: Said;
}

/** A pure function from facts to findings. */
export interface Check<Facts> {
  readonly id: string;
  /** Every line that the check may report, without `id/`. */
  readonly lines: readonly string[];
  readonly evaluate: (facts: Facts) => readonly Finding[];
}

/** The report of the service to a caller of its API. */
export interface ServiceReport {
  /** The version of the program that answers. */
  readonly version: string;
  /** The time of the report in RFC 3339. */
  readonly checkedAt: string;
  readonly findings: readonly Finding[];
  /** The certificate that the conversion webhook presents (PEM, public), for callers who may read the CustomResourceDefinition. */
  readonly conversion: ServedCertificate;
}

/** The certificate that a listener presents, or why it is not known. */
export type ServedCertificate = { readonly certificate: string } | { readonly why: string };

/** A text of a finding: a sentence with an id, or a text that has none. */
type Text = string | Said;

/** A finding that needs no action. */
export function ok(line: string, message: Text): Finding {
  return { line, level: 'ok', ...messageOf(message) };
}

/** A finding that somebody must act on. */
export function failed(line: string, message: Text, action: Text): Finding {
  return { line, level: 'failed', ...messageOf(message), ...actionOf(action) };
}

/** A finding that somebody should act on. */
export function warning(line: string, message: Text, action: Text): Finding {
  return { line, level: 'warning', ...messageOf(message), ...actionOf(action) };
}

/** A finding that could not be checked. */
export function skipped(line: string, message: Text, action?: Text): Finding {
  return { line, level: 'skipped', ...messageOf(message), ...(action !== undefined && actionOf(action)) };
}

function messageOf(text: Text): Pick<Finding, 'message' | 'said'> {
  return typeof text === 'string' ? { message: text } : { message: inEnglish(text), said: text };
}

function actionOf(text: Text): Pick<Finding, 'action' | 'saidAction'> {
  return typeof text === 'string' ? { action: text } : { action: inEnglish(text), saidAction: text };
}
