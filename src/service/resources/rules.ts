import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import type { FieldContext } from '../../core/model/field-rules.ts';
import type { Reason } from '../../core/model/reasons.ts';

/**
 * A rule that the API server checks in CEL (x-kubernetes-validations), and the same rule in code; the message says what to write instead. The CEL must
 * evaluate for every value: the API server tolerates a stored value that violates a rule (ratcheting), but not a rule that fails to evaluate.
 */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** A message that names the value, in CEL and in code; the API server falls back to `message` if it cannot be evaluated. */
  readonly explained?: { readonly messageExpression: string; readonly describe: (self: unknown) => string };
  /** Whether `oldSelf` is an optional value, so that the rule is checked at creation as well. */
  readonly optionalOldSelf?: true;
  /** Whether the rule holds; called only with values of the schema's JSON type, which may be invalid inside. */
  holds(self: unknown): boolean;
}

/** Something that is wrong in a value. */
export interface Finding {
  /** Where, relative to the checked value. */
  readonly keys?: readonly (string | number)[];
  readonly message: string;
  readonly reason?: Reason;
}

/** The namespace of the policy, and the custom targets that the operator allows; by default only the built-in ones. */
export interface CheckContext extends Partial<FieldContext> {
  /** Undefined if unknown. */
  readonly namespace?: string | undefined;
}

/** A check that only code can make; called like a rule. */
export type Check = (value: unknown, context: CheckContext) => readonly Finding[];

const registry = z.registry<{ rules?: readonly Rule[]; checks?: readonly Check[] }>();

/** Adds rules that JSON Schema cannot express: the API server checks them in CEL, `validateSpec` in code, and zod not at all. */
export function withRules<T extends z.ZodType>(schema: T, rules: readonly Rule[]): T {
  const inCel = rules.map(({ rule, message, explained, optionalOldSelf }) => ({
    rule,
    message,
    ...(explained && { messageExpression: explained.messageExpression }),
    ...(optionalOldSelf && { optionalOldSelf }),
  }));
  const result = schema.meta({ 'x-kubernetes-validations': inCel });
  registry.add(result, { ...registry.get(result), rules });
  return result;
}

/** Adds checks that CEL cannot make: `validateSpec` makes them, and zod does not. */
export function withChecks<T extends z.ZodType>(schema: T, ...checks: readonly Check[]): T {
  // A copy, because metadata belongs to one schema, and this one may be used elsewhere as well.
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

/** `has(self.key)` of CEL. */
export function has(self: unknown, key: string): boolean {
  return fieldOf(self, key) !== undefined;
}

/** `self.key`; undefined if absent. */
export function fieldOf(self: unknown, key: string): unknown {
  return isObject(self) && Object.hasOwn(self, key) ? self[key] : undefined;
}

/** The number of entries of a list or an object; 0 for everything else. */
export function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
