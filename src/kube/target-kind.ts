import type { FieldRule } from '../model/field-rules.ts';

/** A kind that can be updated: where its objects are, and where in them the pod template is. */
export interface TargetKind {
  readonly kind: string;
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** The plural in URLs. */
  readonly resource: string;
  readonly podSpecPath: readonly string[];
  /** Whether objects that another one controls are left out. */
  readonly withoutControlled?: true;
  /** Of custom resources: the fields that policies may write. */
  readonly fields?: readonly FieldRule[];
}
