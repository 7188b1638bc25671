/** The script of a shell that completes a command line. The program prints a word and its meaning in each line, then `:DIRECTIVE` (cobra's protocol). */

/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The directive of cobra that files are no candidates. */
export const noFiles = 4;

export const scripts: Readonly<Record<Shell, string>> = {
  bash: String.raw`# bash completion for image-watcher: source <(image-watcher completion bash)
_image_watcher() {
  local cur=${'$'}{COMP_WORDS[COMP_CWORD]} words=("${'$'}{COMP_WORDS[@]}") cword=$COMP_CWORD
  declare -F _get_comp_words_by_ref >/dev/null && _get_comp_words_by_ref -n '=:' cur words cword
  local line directive=0 found=()
  while IFS= read -r line; do
    case $line in
      :*) directive=${'$'}{line#:} ;;
      *) found+=("${'$'}{line%%$'\t'*}") ;;
    esac
  done < <("${'$'}{words[0]}" __complete "${'$'}{words[@]:1:cword-1}" "$cur" 2>/dev/null)
  COMPREPLY=(${'$'}{found[@]+"${'$'}{found[@]}"})
  if (( ${'$'}{#COMPREPLY[@]} == 0 && !(directive & 4) )); then
    COMPREPLY=()
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${'$'}{cur#--*=}")
    type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
  fi
  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
  return 0
}
complete -F _image_watcher image-watcher
`,
  zsh: String.raw`#compdef image-watcher
# zsh completion for image-watcher: source <(image-watcher completion zsh)
_image-watcher() {
  local line word directive=0
  local -a found
  for line in "${'$'}{(@f)$("${'$'}{words[1]}" __complete "${'$'}{(@)words[2,CURRENT-1]}" "${'$'}{words[CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :*) directive=${'$'}{line#:} ;;
      *)
        word=${'$'}{line%%$'\t'*}
        [[ $line == *$'\t'* ]] && found+=("${'$'}{word//:/\\:}:${'$'}{line#*$'\t'}") || found+=("${'$'}{word//:/\\:}")
        ;;
    esac
  done
  [[ ${'$'}{words[CURRENT]} == --*=* ]] && compset -P '*='
  if (( ${'$'}#found )); then
    _describe -t image-watcher image-watcher found
  elif (( ! (directive & 4) )); then
    _files
  fi
}
if [[ ${'$'}{funcstack[1]} == _image-watcher ]]; then _image-watcher; else compdef _image-watcher image-watcher; fi
`,
  fish: String.raw`# fish completion for image-watcher: image-watcher completion fish | source
function __image_watcher_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    set -l prefix (string match -r -- '^--[^=]+=' $current)
    set -l found ($program __complete $before "$current" 2>/dev/null)
    for line in $found
        switch $line
            case ':*'
                if test (count $found) -eq 1 -a "$line" = ':0'
                    __fish_complete_path (string replace -- "$prefix" '' "$current")
                end
            case '*'
                echo -- "$prefix$line"
        end
    end
end
complete -c image-watcher -e
complete -c image-watcher -f -a '(__image_watcher_complete)'
`,
};
