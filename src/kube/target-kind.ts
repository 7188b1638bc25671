/** A kind that can be updated: where its objects are, and where in them the pod template is. */
export interface TargetKind {
  readonly kind: string;
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** The plural in URLs. */
  readonly resource: string;
  readonly podSpecPath: readonly string[];
}
