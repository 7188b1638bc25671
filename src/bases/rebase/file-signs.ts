/** What the files of a base show of its distribution: its C library and its package manager. A configuration does not say it. */

/** Undefined where the files that were read show none, such as those of a distroless base. */
export interface FileSigns {
  readonly libc?: 'glibc' | 'musl' | undefined;
  readonly packages?: 'apk' | 'dpkg' | 'pacman' | 'rpm' | undefined;
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

/** Whether more files would show nothing more. */
export function areComplete({ libc, packages }: FileSigns): boolean {
  return libc !== undefined && packages !== undefined;
}
