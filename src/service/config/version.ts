import about from '../../../package.json' with { type: 'json' };

/** The version of the program, from its package.json. */
export function readVersion(): string {
  return about.version;
}
