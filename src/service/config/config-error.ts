import { formatKeys, type Keys } from '../resources/validation/problem.ts';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** The place of the setting: `config.yaml:12`, or the environment variable. */
  readonly where: string;
  /** The path of the setting: `receivers[0].provider`; empty if the problem concerns the whole file. */
  readonly path: string;
  /** The problem, and what to do. */
  readonly message: string;
}

/** Thrown if the configuration cannot be used. Its message has one line for each problem: where, which setting, what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ where, path, message }) => [where, path, message].filter(Boolean).join(': ')).join('\n'));
    this.problems = problems;
  }
}

/** The places where settings are written. */
export interface WrittenSettings {
  readonly placeOf: (keys: Keys) => string;
}

/** The error for a setting that proves to be wrong after the configuration was read. */
export function settingError({ placeOf }: WrittenSettings, keys: Keys, message: string, options?: ErrorOptions): ConfigError {
  const error = new ConfigError([{ where: placeOf(keys), path: formatKeys(keys), message }]);
  if (options?.cause !== undefined) error.cause = options.cause;
  return error;
}
