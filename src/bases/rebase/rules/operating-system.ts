import { isSame } from '../merge-config.ts';
import { type Rule, shown } from './rule.ts';

/** The operating system that an image needs; only images for Windows name one. */
export const operatingSystem: Rule = {
  id: 'OperatingSystemChanged',
  about: 'The base needs another version or other features of the operating system (`os.version`, `os.features`).',
  check({ oldBase, newBase }) {
    const field = (['os.version', 'os.features'] as const).find((name) => !isSame(oldBase.config[name], newBase.config[name]));
    if (field === undefined) return undefined;
    return `${field} of the base changes from ${shown(oldBase.config[field])} to ${shown(newBase.config[field])}`;
  },
};
