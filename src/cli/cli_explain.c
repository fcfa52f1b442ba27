/* SPDX-License-Identifier: Apache-2.0
 * tirc explain: what a code means, with a wrong and a right kernel where there are. */
#include "cli/cli.h"
#include <ctype.h>
#include <string.h>

static const cli_option options[] = {
    {"--words", NULL, "list the words of the language instead", false},
    {NULL, NULL, NULL, false},
};

static int list_codes(void) {
    const char *code, *title;
    for (size_t i = 0; (code = tirc_code_at(i)); ++i)
        if (tirc_explain(code, &title, NULL))
            printf("%s  %s\n", code, title);
    return CLI_CLEAN;
}

static int list_words(void) {
    const char *word, *signature, *summary;
    for (size_t i = 0; (word = tirc_word_at(i, &signature, &summary)); ++i)
        printf("%s%s\n    %s\n", word, signature ? signature : "", summary ? summary : "");
    return CLI_CLEAN;
}

/* A kernel of the page, indented, under the command that shows it. */
static void print_example(const char *code, bool right) {
    const char *command, *text;
    if (!tirc_example(code, right, &command, &text))
        return;
    printf("\n%s kernel, `%s`:\n\n", right ? "Right" : "Wrong", command);
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        printf("%s%.*s\n", length ? "    " : "", length, text);
        text += length + (text[length] == '\n');
    }
}

static int explain(const cli_arguments *arguments) {
    if (cli_flag(arguments, "--words"))
        return list_words();
    if (!arguments->word_count)
        return list_codes();
    char code[8] = "";
    const char *word = arguments->words[0], *title, *text;
    for (size_t i = 0; i < sizeof code - 1 && word[i]; ++i)
        code[i] = (char)toupper((unsigned char)word[i]);
    if (strlen(word) >= sizeof code || !tirc_explain(code, &title, &text))
        return cli_usage("explain", "there is no code `%s`; `tirc explain` lists all", word);
    printf("%s: %s\n\n%s\n", code, title, text);
    print_example(code, false);
    print_example(code, true);
    return CLI_CLEAN;
}

const cli_command cli_explain_command = {.name = "explain",
                                         .words = "[CODE]",
                                         .summary =
                                             "what a diagnostic's code means; all codes when none is given",
                                         .options = options,
                                         .least = 0,
                                         .most = 1,
                                         .run = explain,
                                         .examples = "  tirc explain T0806\n"};
