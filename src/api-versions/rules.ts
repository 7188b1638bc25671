import { z } from 'zod';
import type { FieldContext } from '../model/field-rules.ts';
import type { Reason } from '../model/reasons.ts';

/**
 * A rule that the API server checks in CEL (x-kubernetes-validations), and the same in code; the message says what to write instead. The CEL
 * must not fail on any value: the API server forgives what was stored already (ratcheting), but no rule that cannot be evaluated.
 */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** A message that names the value: in CEL, and the same in code. Where it cannot be evaluated, `message` is said. */
  readonly explained?: { readonly messageExpression: string; readonly describe: (self: unknown) => string };
  /** Also checked at the creation: `oldSelf` is an optional value. */
  readonly optionalOldSelf?: true;
  /** Whether the rule holds; called with values of the schema's own JSON type only, whatever is wrong inside. */
  holds(self: unknown): boolean;
}

/** Something that is wrong inside a value. */
export interface Finding {
  /** Where, below the value that was checked. */
  readonly keys?: readonly (string | number)[];
  readonly message: string;
  readonly reason?: Reason;
}

/** What is known of where a value stands, and of what the operator allows: only what is built in unless given. */
export interface CheckContext extends Partial<FieldContext> {
  /** The namespace of the policy, where it is known. */
  readonly namespace?: string | undefined;
}

/** A check that only code can do; called like a rule. */
export type Check = (value: unknown, context: CheckContext) => readonly Finding[];

const registry = z.registry<{ rules?: readonly Rule[]; checks?: readonly Check[] }>();

/** Adds rules that JSON Schema cannot say: the API server checks them in CEL, `validateSpec` in code. zod itself does not. */
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

/** Adds checks that CEL cannot do: `validateSpec` does them. zod itself does not. */
export function withChecks<T extends z.ZodType>(schema: T, ...checks: readonly Check[]): T {
  // A copy: metadata belongs to one schema, and this one may be used elsewhere too.
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

/** `self.key` where it is there. */
export function fieldOf(self: unknown, key: string): unknown {
  return isDraft(self) && Object.hasOwn(self, key) ? self[key] : undefined;
}

/** A JSON object whose fields may be wrong. */
export function isDraft(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How many entries a list or an object has; 0 for everything else. */
export function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
