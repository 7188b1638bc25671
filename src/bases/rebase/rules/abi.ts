import { parseBoundedJson } from '../../../core/model/bounded-json.ts';
import { type Rule, shown } from './rule.ts';

/** Labels in which a base states what programs can rely on. */
const promises = /^io\.buildpacks\.(?:stack\.id|base\.distro\.(?:name|version))$|[./]abi$/;
const rebasable = 'io.buildpacks.rebasable';
/** A JSON list of the packages that a stack has besides its usual ones. https://github.com/buildpacks/spec/blob/main/platform.md */
const mixins = 'io.buildpacks.stack.mixins';

/** Refuses a base with another ABI than that which programs of the application are linked against. */
export const abi: Rule = {
  id: 'AbiChanged',
  about:
    'A label that names what programs rely on has another value (`io.buildpacks.stack.id`, `io.buildpacks.base.distro.*`, and labels that end in `.abi` or `/abi`), the stack loses a mixin (`io.buildpacks.stack.mixins`), or the application has `io.buildpacks.rebasable=false`.',
  check({ application, oldBase, newBase }) {
    if (application.config.config?.Labels?.[rebasable] === 'false') return `the application has the label ${rebasable}=false`;
    const [before = {}, after = {}] = [oldBase, newBase].map(({ config }) => config.config?.Labels ?? {});
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].find(
      (name) => promises.test(name) && before[name] !== after[name],
    );
    if (changed === undefined) {
      const kept = new Set(namesOf(after[mixins]));
      const lost = namesOf(before[mixins]).find((name) => !kept.has(name));
      return lost === undefined ? undefined : `the base no longer has the mixin ${shown(lost)}`;
    }
    return `the label ${shown(changed)} of the base changes from ${shown(before[changed])} to ${shown(after[changed])}`;
  },
};

/** The names in a label. Those that begin with `build:` are of the images that build, not of those that run. */
function namesOf(label = '[]'): string[] {
  try {
    const names: unknown = parseBoundedJson(label);
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string' && !name.startsWith('build:')) : [];
  } catch {
    return [];
  }
}
