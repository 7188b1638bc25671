import type { z } from 'zod';

/** A rule in CEL that the API server checks (x-kubernetes-validations); the message says what to write instead. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** Also checked at the creation: `oldSelf` is an optional value. */
  readonly optionalOldSelf?: true;
}

/** Adds rules that JSON Schema cannot say. zod itself does not check them. */
export function withRules<T extends z.ZodType>(schema: T, rules: readonly Rule[]): T {
  return schema.meta({ 'x-kubernetes-validations': rules });
}
