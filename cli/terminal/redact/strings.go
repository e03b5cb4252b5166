package redact

import "reflect"

// Strings removes secrets from all strings that v points to.
func (r *Redactor) Strings(v any) { ChangeStrings(v, r.Text) }

// ChangeStrings changes all strings that v points to. Keys of maps and names of
// fields stay, so that v keeps its form.
func ChangeStrings(v any, change func(string) string) {
	stringChanger(change).value(reflect.ValueOf(v))
}

type stringChanger func(string) string

func (c stringChanger) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.value(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind >= reflect.Bool && kind <= reflect.Complex128 {
			return
		}
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			inside := reflect.New(v.Type().Elem()).Elem()
			inside.Set(v.MapIndex(key))
			c.value(inside)
			v.SetMapIndex(key, inside)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(c(v.String()))
		}
	}
}
