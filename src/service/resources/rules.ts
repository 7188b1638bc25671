import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import type { FieldContext } from '../../core/model/field-rules.ts';
import type { Reason } from '../../core/model/reasons.ts';

/**
 * A rule in CEL: the API server checks it (x-kubernetes-validations), and so does the program (`validation/broken-rules.ts`). The message says what to write
 * instead. A rule must evaluate for every value: the API server tolerates a stored value that violates a rule (ratcheting), but not a rule that fails to evaluate.
 */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** A message in CEL that names the value. The API server falls back to `message` if it cannot be evaluated. */
  readonly messageExpression?: string;
  /** Whether `oldSelf` is an optional value, so that the rule is checked at creation as well. The program evaluates no such rule. */
  readonly optionalOldSelf?: true;
}

/** A problem that a check has found in a value. */
export interface Finding {
  /** The location of the problem, relative to the checked value. */
  readonly keys?: readonly (string | number)[];
  readonly message: string;
  readonly reason?: Reason;
}

/** The namespace of the policy, and the custom targets that the operator allows; by default, only the built-in ones. */
export interface CheckContext extends Partial<FieldContext> {
  /** The namespace of the policy; undefined if unknown. */
  readonly namespace?: string | undefined;
}

/** A check that only code can make; called like a rule. */
export type Check = (value: unknown, context: CheckContext) => readonly Finding[];

const registry = z.registry<{ rules?: readonly Rule[]; checks?: readonly Check[] }>();

/** Adds rules that JSON Schema cannot express. The API server and `validateSpec` check them, and zod does not. */
export function withRules<T extends z.ZodType>(schema: T, rules: readonly Rule[]): T {
  const result = schema.meta({ 'x-kubernetes-validations': rules });
  registry.add(result, { ...registry.get(result), rules });
  return result;
}

/** Adds checks that CEL cannot make. `validateSpec` makes them, and zod does not. */
export function withChecks<T extends z.ZodType>(schema: T, ...checks: readonly Check[]): T {
  // The schema is copied, because metadata belongs to one schema, and this one may be used elsewhere as well.
  const result = schema.meta({});
  registry.add(result, { ...registry.get(result), checks });
  return result;
}

/** The rules of a schema itself, without those of its fields. */
export function rulesOf(schema: z.core.$ZodType): readonly Rule[] {
  return registry.get(schema)?.rules ?? [];
}

/** The checks of a schema itself, without those of its fields. */
export function checksOf(schema: z.core.$ZodType): readonly Check[] {
  return registry.get(schema)?.checks ?? [];
}

/** Evaluates `has(self.key)` of CEL. */
export function has(self: unknown, key: string): boolean {
  return fieldOf(self, key) !== undefined;
}

/** Evaluates `self.key` of CEL; undefined if absent. */
export function fieldOf(self: unknown, key: string): unknown {
  return isObject(self) && Object.hasOwn(self, key) ? self[key] : undefined;
}
