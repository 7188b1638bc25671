import { formatKeys, type Keys } from '../resources/validation/problem.ts';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** Where it is written: `config.yaml:12`, or the environment variable. */
  readonly where: string;
  /** The setting: `receivers[0].provider`; empty if it is the file as a whole. */
  readonly path: string;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** The configuration cannot be used; its message has one line for each problem: where, which setting, what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ where, path, message }) => [where, path, message].filter(Boolean).join(': ')).join('\n'));
    this.problems = problems;
  }
}

/** Where settings are written. */
export interface WrittenSettings {
  readonly placeOf: (keys: Keys) => string;
}

/** A setting turned out to be wrong after the configuration was read. */
export function settingError({ placeOf }: WrittenSettings, keys: Keys, message: string, options?: ErrorOptions): ConfigError {
  const error = new ConfigError([{ where: placeOf(keys), path: formatKeys(keys), message }]);
  if (options?.cause !== undefined) error.cause = options.cause;
  return error;
}
