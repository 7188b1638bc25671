/** What the files of a base show of its distribution: its C library, its package manager, its name and its release. A configuration does not say it. */

/** Undefined where the files that were read show none, such as those of a distroless base. */
export interface FileSigns {
  readonly libc?: 'glibc' | 'musl' | undefined;
  readonly packages?: 'apk' | 'dpkg' | 'pacman' | 'rpm' | undefined;
  /** The `ID` of its os-release: `debian`. */
  readonly system?: string | undefined;
  /** The first number of its `VERSION_ID`: 12, also for 12.4. Undefined for a rolling release, whose number is a date. */
  readonly release?: number | undefined;
}

/** The paths in the layers of images of Alpine, Wolfi, Debian, Ubuntu, Distroless, UBI, Fedora, SUSE, Amazon Linux and Arch. Each is read from left to right once. */
const signs: readonly (readonly [path: RegExp, FileSigns])[] = [
  [/^(?:usr\/)?lib\/ld-musl-[\w-]+\.so\.1$/, { libc: 'musl' }],
  [/^(?:usr\/)?lib(?:32|64)?\/(?:[\w-]+\/)?(?:ld-linux[\w-]*|libc)\.so\.[\w.]+$/, { libc: 'glibc' }],
  [/^(?:usr\/)?lib\/apk\/db\/installed$/, { packages: 'apk' }],
  [/^var\/lib\/dpkg\/status(?:\.d\/.+)?$/, { packages: 'dpkg' }],
  [/^(?:var\/lib|usr\/lib\/sysimage)\/rpm\/.+$/, { packages: 'rpm' }],
  [/^var\/lib\/pacman\/local\/.+$/, { packages: 'pacman' }],
];

/** Adds what a path of a layer shows. The first sign of each sort counts. */
export function addSign(known: FileSigns, path: string): FileSigns {
  const name = path.replace(/^\.?\//, '');
  const found = signs.find(([pattern]) => pattern.test(name))?.[1];
  return found === undefined ? known : { ...found, ...known };
}

/** Whether a path is that of the file that names the distribution. One of the two is usually a link to the other. https://www.freedesktop.org/software/systemd/man/latest/os-release.html */
export function isOsRelease(path: string): boolean {
  return /^(?:\.?\/)?(?:etc|usr\/lib)\/os-release$/.test(path);
}

/** A date, as a rolling release has it, has more than five digits. */
const versionPattern = /^VERSION_ID=["']?([0-9]{1,5})(?:["'.\r]|$)/m;
const idPattern = /^ID=["']?([a-z0-9._-]{1,64})["']?[ \t\r]*$/m;

/** Adds what an os-release says. The first one that names the distribution counts. */
export function addOsRelease(known: FileSigns, text: string): FileSigns {
  const system = idPattern.exec(text)?.[1];
  if (known.system !== undefined || system === undefined) return known;
  const [, release] = versionPattern.exec(text) ?? [];
  return { ...known, system, ...(release !== undefined && { release: Number(release) }) };
}

/** Whether further layers would show nothing more of the C library and the package manager. The os-release is in the same layer as these, if there is one. */
export function areComplete({ libc, packages }: FileSigns): boolean {
  return libc !== undefined && packages !== undefined;
}
