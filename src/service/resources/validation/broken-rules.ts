/** Evaluates the rules of the definition in the program. Only this file uses the evaluator of CEL. */
import { Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import type { Rule } from '../rules.ts';

const environment = new Environment().registerVariable('self', 'dyn');

/** The parsed expressions. Each is parsed once, because that takes as long as evaluating it some fifty times. */
const parsed = new Map<string, ParseResult>();

function evaluate(expression: string, self: unknown): unknown {
  let evaluator = parsed.get(expression);
  if (evaluator === undefined) parsed.set(expression, (evaluator = environment.parse(expression)));
  return evaluator({ self });
}

/**
 * The messages of the rules that a value breaks. A value may be malformed inside: rules that cannot be evaluated for it are then skipped, as by the API server.
 * For any other value, a rule that cannot be evaluated throws an error.
 */
export function brokenRules(rules: readonly Rule[], self: unknown, isMalformed: boolean): readonly string[] {
  return rules
    .filter((one) => !holds(one, self, isMalformed))
    .map(({ message, messageExpression }) => (messageExpression === undefined ? message : String(evaluate(messageExpression, self))));
}

function holds({ rule }: Rule, self: unknown, isMalformed: boolean): boolean {
  try {
    return evaluate(rule, self) === true;
  } catch (error) {
    if (isMalformed && error instanceof EvaluationError) return true;
    throw error;
  }
}
