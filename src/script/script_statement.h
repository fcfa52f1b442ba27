/* SPDX-License-Identifier: Apache-2.0
 * What the two statement files share. Private to script/. */
#ifndef TIRC_SCRIPT_SCRIPT_STATEMENT_H
#define TIRC_SCRIPT_SCRIPT_STATEMENT_H
#include "script/script_parser.h"

/* To the start of the next logical line, giving up brackets that hide it. */
void script_parser_skip_line(script_parser *parser);
/* An ERROR node for a statement that started at begin and has been reported. */
script_node *script_parser_failed(script_parser *parser, uint32_t begin);
/* Statements joined by ";" up to and with the line's end. */
void script_parser_simple_line(script_parser *parser, script_nodes *out);
/* One statement, compound or a line of simple ones. */
void script_parser_statement(script_parser *parser, script_nodes *out);
/* [A, *B, **C: bound] after def, class or type, the opening bracket in hand */
bool script_parser_type_parameters(script_parser *parser, script_nodes *parameters);
#endif
